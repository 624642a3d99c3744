"""Import of programs in other dialects and forms: linalg, tensor, views, scf."""
