"""What people have of a model's work, made into files: one module per form, bytes in and files out."""
