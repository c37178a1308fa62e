"""The settings of a project, as data: what ragdata.toml may say."""
