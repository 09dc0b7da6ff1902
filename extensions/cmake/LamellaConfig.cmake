# find_package(Lamella): the headers as Lamella::headers, and lamella_extension(), which makes a library of operators.
#
# The folder is what `lamella config --cmake` prints; scikit-build-core finds it by itself. Nothing of Lamella is linked:
# a program without Python, which loads liblamella.so, links Lamella::lamella where that is installed; one that runs
# programs of jit.save links Lamella::run.

get_filename_component(LAMELLA_ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set(LAMELLA_INCLUDE_DIRS "${LAMELLA_ROOT}/include")

if(NOT TARGET Lamella::headers)
  add_library(Lamella::headers INTERFACE IMPORTED)
  set_target_properties(Lamella::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${LAMELLA_INCLUDE_DIRS}")
endif()
if(EXISTS "${LAMELLA_ROOT}/liblamella.so" AND NOT TARGET Lamella::lamella)
  add_library(Lamella::lamella SHARED IMPORTED)
  set_target_properties(Lamella::lamella PROPERTIES
    IMPORTED_LOCATION "${LAMELLA_ROOT}/liblamella.so"
    INTERFACE_INCLUDE_DIRECTORIES "${LAMELLA_INCLUDE_DIRS}")
endif()
if(EXISTS "${LAMELLA_ROOT}/liblamella_run.so" AND NOT TARGET Lamella::run)
  add_library(Lamella::run SHARED IMPORTED)
  set_target_properties(Lamella::run PROPERTIES
    IMPORTED_LOCATION "${LAMELLA_ROOT}/liblamella_run.so"
    INTERFACE_LINK_LIBRARIES Lamella::lamella
    INTERFACE_COMPILE_FEATURES cxx_std_17)
endif()

# lamella_extension(name sources...): the library libNAME.so, which a plugin loads with ctx.load_library.
# lamella_extension(name PYTHON sources...): an extension module of Python, by pybind11.
# OWNER: the name of the owner in messages and tables; by default the target's name. STANDARD: 17, 20 or 23.
# Where no build type is set it is compiled with -O2, as by the other builders. Places of the sources, which messages
# name, are written relative to the project, so that a wheel does not carry the paths of the machine that built it; a
# project that maps prefixes itself keeps its own.
function(lamella_extension name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "PYTHON" "OWNER;STANDARD" "")
  if(NOT ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "lamella_extension(${name}): there are no sources")
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
  target_link_libraries(${name} PRIVATE Lamella::headers)
  target_compile_features(${name} PRIVATE cxx_std_${ARG_STANDARD})
  target_compile_definitions(${name} PRIVATE LAMELLA_EXTENSION_NAME=${name} TORCH_EXTENSION_NAME=${name} LAMELLA_PLUGIN_NAME="${ARG_OWNER}")
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    target_compile_options(${name} PRIVATE -O2)
  endif()
  get_directory_property(OPTIONS COMPILE_OPTIONS)
  if(NOT "${OPTIONS} ${CMAKE_CXX_FLAGS}" MATCHES "-prefix-map=")
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=>
      $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-ffile-prefix-map=${LAMELLA_INCLUDE_DIRS}/=>)
  endif()
  set_target_properties(${name} PROPERTIES
    CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON)
endfunction()
