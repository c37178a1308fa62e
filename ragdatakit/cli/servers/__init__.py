"""Commands that answer a program until it is done."""
