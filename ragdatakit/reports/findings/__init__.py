"""What `ragdata validate` found, for people, CI services, review bots and programs: one module per form or family."""
