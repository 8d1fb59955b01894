"""Commands as they are asked for: values, one class a command."""
