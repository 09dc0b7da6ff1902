"""The dispatcher: operators, layers, registration and the plugin manager. Its C++ is beside this file."""
