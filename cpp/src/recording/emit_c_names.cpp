#include "emit_c_names.hpp"

#include <cctype>
#include <set>
#include <sstream>
#include <stdexcept>

namespace thunder::emit {

namespace {

using Names = std::set<std::string>;

Names words(const char* text) {
  std::istringstream stream(text);
  Names names;
  for (std::string word; stream >> word;) names.insert(word);
  return names;
}

const Names& keywords() {
  static const Names names = words(
      "auto break case char const continue default do double else enum extern float for goto if inline int long register restrict "
      "return short signed sizeof static struct switch typedef union unsigned void volatile while asm typeof "
      "alignas alignof and and_eq bitand bitor bool catch char8_t char16_t char32_t class co_await co_return co_yield compl "
      "concept consteval constexpr constinit const_cast decltype delete dynamic_cast explicit export false friend mutable "
      "namespace new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires "
      "static_assert static_cast template this thread_local throw true try typeid typename using virtual wchar_t xor xor_eq "
      "final override linux unix");
  return names;
}

/// Names defined by math.h, stddef.h, stdint.h and string.h, macros included: functions hide them, locals would break their use.
const Names& library_names() {
  static const Names names = [] {
    Names all = words(
        "HUGE_VAL HUGE_VALF HUGE_VALL INFINITY NAN FP_INFINITE FP_NAN FP_NORMAL FP_SUBNORMAL FP_ZERO MATH_ERRNO MATH_ERREXCEPT "
        "math_errhandling fpclassify isfinite isinf isnan isnormal signbit isgreater isgreaterequal isless islessequal "
        "islessgreater isunordered signgam M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI "
        "M_SQRT2 M_SQRT1_2 MAXFLOAT NULL offsetof size_t ptrdiff_t uint32_t uint64_t float_t double_t memcpy memset memmove "
        "memcmp");
    for (const std::string& name : words(
             "acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb ldexp log log10 log1p "
             "log2 logb modf scalbn scalbln cbrt fabs hypot pow sqrt erf erfc lgamma tgamma ceil floor nearbyint rint lrint llrint "
             "round lround llround trunc fmod remainder remquo copysign nan nextafter nexttoward fdim fmax fmin fma"))
      for (const char* suffix : {"", "f", "l"}) all.insert(name + suffix);
    return all;
  }();
  return names;
}

/// Other functions built into compilers: redefining one gives a warning or an error.
const Names& known_functions() {
  static const Names names = words(
      "main abort abs atexit calloc div exit free getenv labs llabs ldiv malloc qsort rand realloc srand system bcmp bcopy bzero "
      "ffs index rindex stpcpy strcat strchr strcmp strcpy strcspn strdup strlen strncat strncmp strncpy strpbrk strrchr strspn "
      "strstr strtol strtod memchr printf fprintf sprintf snprintf vprintf puts putchar putc fputc fputs fwrite scanf sscanf fscanf "
      "isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit tolower toupper "
      "cabs carg casin cacos catan ccos csin ctan ccosh csinh ctanh cexp clog conj cpow cproj creal cimag csqrt "
      "j0 j1 jn y0 y1 yn j0f j1f jnf y0f y1f ynf gamma gammaf lgamma_r exp10 exp10f pow10 pow10f drem dremf significand scalb "
      "sincos sincosf sincosl finite isinff isnanf alloca execl fork time signal raise longjmp setjmp remove rename read write "
      "open close link pause");
  return names;
}

[[noreturn]] void refuse(const std::string& what, const std::string& name, const std::string& why) {
  throw std::invalid_argument(what + " '" + name + "' " + why);
}

void check_identifier(const std::string& what, const std::string& name) {
  bool valid = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
  for (const char c : name) valid = valid && (c == '_' || (std::isalnum(static_cast<unsigned char>(c)) && c > 0));
  if (!valid) refuse(what, name, "is not a C identifier: letters, digits and underscores, not starting with a digit");
  if (name.size() > 200) refuse(what, name, "is longer than 200 characters");
  if (name[0] == '_' || name.find("__") != std::string::npos)
    refuse(what, name, "is reserved: no leading underscore, and no two in a row");
  if (keywords().count(name)) refuse(what, name, "is a keyword of C or C++");
  if (library_names().count(name)) refuse(what, name, "is a name of the C library");
  bool own = name.compare(0, 8, "THUNDER_") == 0;
  for (const char* helper : {"thunder_sincos", "thunder_sincos_pair", "thunder_zeros", "thunder_copy", "thunder_sign", "thunder_form"})
    own = own || name == helper;
  if (own) refuse(what, name, "is a name the generated code uses itself");
}

void check_ports(const Function& function) {
  Names taken;
  for (const auto* ports : {&function.arguments(), &function.results()})
    for (const Port& port : *ports) {
      const std::string what = (ports == &function.results() ? "result" : "argument") + std::string(" of ") + function.name();
      check_identifier(what, port.name);
      if (!taken.insert(port.name).second) refuse(what, port.name, "has the name of another argument or result");
    }
}

void check_header_name(const std::string& name) {
  bool valid = true;
  for (const char c : name)
    valid = valid && (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' || c == '/') && c > 0;
  if (!valid) refuse("header_name", name, "is not a file name of letters, digits, '_', '-', '.' and '/'");
}

}  // namespace

std::string identifier_from(const std::string& text) {
  std::string name;
  for (const char c : text)
    name += std::isalnum(static_cast<unsigned char>(c)) && c > 0 ? c : name.empty() || name.back() != '_' ? '_' : '\0';
  std::string clean;
  for (const char c : name)
    if (c != '\0') clean += c;
  return clean;
}

std::vector<std::string> external_names(const Function& function, const COptions& options) {
  std::vector<std::string> names{function.name()};
  if (options.batch) names.push_back(function.name() + "_batch");
  if (options.packed) names.push_back(function.name() + "_packed");
  return names;
}

void check_names(const std::vector<std::shared_ptr<const Function>>& functions, const COptions& options) {
  check_header_name(options.header_name);
  Names taken;
  for (const auto& function : functions) {
    check_identifier("function", function->name());
    if (known_functions().count(function->name()))
      refuse("function", function->name(), "is a name of the C library");
    for (const std::string& name : external_names(*function, options))
      if (!taken.insert(name).second) refuse("function", name, "appears twice in one file");
    check_ports(*function);
  }
}

}  // namespace thunder::emit
