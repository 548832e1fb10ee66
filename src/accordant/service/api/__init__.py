"""The service over HTTP: what programs ask, and what people see."""
