# Made by `make stubs` from the live registry; a test compares. Do not edit.
from lamella.plugins.distributed.futures import *
