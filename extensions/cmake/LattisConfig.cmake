# find_package(Lattis): the headers as Lattis::headers, and lattis_extension(), which makes a library of operators.
#
# The folder is what `lattis config --cmake` prints; scikit-build-core finds it by itself. Nothing of Lattis is linked:
# a program without Python, which loads liblattis.so, links Lattis::lattis where that is installed.

get_filename_component(LATTIS_ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set(LATTIS_INCLUDE_DIRS "${LATTIS_ROOT}/include")

if(NOT TARGET Lattis::headers)
  add_library(Lattis::headers INTERFACE IMPORTED)
  set_target_properties(Lattis::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${LATTIS_INCLUDE_DIRS}")
endif()
if(EXISTS "${LATTIS_ROOT}/liblattis.so" AND NOT TARGET Lattis::lattis)
  add_library(Lattis::lattis SHARED IMPORTED)
  set_target_properties(Lattis::lattis PROPERTIES
    IMPORTED_LOCATION "${LATTIS_ROOT}/liblattis.so"
    INTERFACE_INCLUDE_DIRECTORIES "${LATTIS_INCLUDE_DIRS}")
endif()

# lattis_extension(name sources...): the library libNAME.so, which a plugin loads with ctx.load_library.
# lattis_extension(name PYTHON sources...): an extension module of Python, by pybind11.
# OWNER: who registers, for messages and tables; the target's name where it is absent. STANDARD: 17, 20 or 23.
# Where no build type is set it is compiled with -O2, as by the other builders.
function(lattis_extension name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "PYTHON" "OWNER;STANDARD" "")
  if(NOT ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "lattis_extension(${name}): there are no sources")
  endif()
  if(NOT ARG_OWNER)
    set(ARG_OWNER ${name})
  endif()
  if(NOT ARG_STANDARD)
    set(ARG_STANDARD 17)
  endif()
  if(ARG_PYTHON)
    find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
    find_package(pybind11 CONFIG REQUIRED)
    pybind11_add_module(${name} ${ARG_UNPARSED_ARGUMENTS})
  else()
    add_library(${name} MODULE ${ARG_UNPARSED_ARGUMENTS})
  endif()
  target_link_libraries(${name} PRIVATE Lattis::headers)
  target_compile_features(${name} PRIVATE cxx_std_${ARG_STANDARD})
  target_compile_definitions(${name} PRIVATE LATTIS_EXTENSION_NAME=${name} LATTIS_PLUGIN_NAME="${ARG_OWNER}")
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    target_compile_options(${name} PRIVATE -O2)
  endif()
  set_target_properties(${name} PROPERTIES
    CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON)
endfunction()
