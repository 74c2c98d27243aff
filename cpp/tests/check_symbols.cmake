# An object of kernels may define one symbol, its table. Anything else that the linker can see (a function of the standard
# library, an inline function of ours) it could take for the whole module, and a machine without these instructions would
# run it. cmake -D NM=nm -D OBJECT=kernels_avx2.o -D TABLE=kernels_avx2 -P check_symbols.cmake
execute_process(COMMAND ${NM} -C --defined-only --extern-only ${OBJECT}
                OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${NM} cannot read ${OBJECT}")
endif()
string(REGEX REPLACE "[0-9a-f]+ V DW\\.ref\\.__gxx_personality_v0\n" "" symbols "${symbols}")  # an address, no code
string(REGEX REPLACE "\n$" "" symbols "${symbols}")
if(NOT symbols MATCHES "^[0-9a-f]+ [DR] thunder::${TABLE}$")
  message(FATAL_ERROR "only thunder::${TABLE} may be visible, found\n${symbols}")
endif()
