from lattis._C import *
