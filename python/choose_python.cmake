# Which Python the package is built for: TACOS_PYTHON_EXECUTABLE, or else the first on the PATH that
# has NumPy. The first of all may be one of pyenv or conda that has nothing.
set(TACOS_PYTHON_EXECUTABLE "" CACHE FILEPATH "The Python to build the package for; empty: the first that has NumPy")

function(choose_python result)
  set(candidates)
  string(REPLACE ":" ";" folders "$ENV{PATH}")
  foreach(folder IN LISTS folders ITEMS /usr/bin /usr/local/bin)
    if(EXISTS "${folder}/python3" AND NOT "${folder}/python3" IN_LIST candidates)
      list(APPEND candidates "${folder}/python3")
    endif()
  endforeach()
  foreach(candidate IN LISTS candidates)
    execute_process(COMMAND ${candidate} -c "import numpy" RESULT_VARIABLE lacks OUTPUT_QUIET ERROR_QUIET)
    if(lacks EQUAL 0)
      set(${result} ${candidate} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "no Python with NumPy among: ${candidates}; install python3-numpy, or say which with "
                      "-DTACOS_PYTHON_EXECUTABLE=...")
endfunction()

if(TACOS_PYTHON_EXECUTABLE)
  set(Python_EXECUTABLE ${TACOS_PYTHON_EXECUTABLE})
else()
  choose_python(Python_EXECUTABLE)
endif()
# Shims of pyenv stand for another file, whose headers are wanted.
execute_process(COMMAND ${Python_EXECUTABLE} -c "import sys; print(sys.executable)"
                OUTPUT_VARIABLE Python_EXECUTABLE OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "The Python package is for ${Python_EXECUTABLE}")
