#pragma once

// Turns the catalogue's argument lists into declarations and calls. An argument is a parenthesised
// (type, name) or (type, name, default); TAPER_DECLARE_ARGS gives "type name = default, ...",
// TAPER_DEFINE_ARGS "type name, ...", TAPER_PASS_ARGS "name, ...". Each with a leading comma in its
// _MORE form.

#define TAPER_PARENS ()
#define TAPER_EXPAND(...) TAPER_EXPAND2(TAPER_EXPAND2(TAPER_EXPAND2(__VA_ARGS__)))
#define TAPER_EXPAND2(...) TAPER_EXPAND1(TAPER_EXPAND1(TAPER_EXPAND1(__VA_ARGS__)))
#define TAPER_EXPAND1(...) __VA_ARGS__

#define TAPER_EACH(macro, ...) __VA_OPT__(TAPER_EXPAND(TAPER_EACH_STEP(macro, __VA_ARGS__)))
#define TAPER_EACH_STEP(macro, first, ...) \
  macro first __VA_OPT__(, TAPER_EACH_AGAIN TAPER_PARENS(macro, __VA_ARGS__))
#define TAPER_EACH_AGAIN() TAPER_EACH_STEP

#define TAPER_DECLARE_ARG(type, name, ...) type name __VA_OPT__(= __VA_ARGS__)
#define TAPER_DEFINE_ARG(type, name, ...) type name
#define TAPER_PASS_ARG(type, name, ...) name

#define TAPER_DECLARE_ARGS(...) TAPER_EACH(TAPER_DECLARE_ARG, __VA_ARGS__)
#define TAPER_DEFINE_ARGS(...) TAPER_EACH(TAPER_DEFINE_ARG, __VA_ARGS__)
#define TAPER_PASS_ARGS(...) TAPER_EACH(TAPER_PASS_ARG, __VA_ARGS__)
#define TAPER_DECLARE_ARGS_MORE(...) __VA_OPT__(, ) TAPER_DECLARE_ARGS(__VA_ARGS__)
#define TAPER_DEFINE_ARGS_MORE(...) __VA_OPT__(, ) TAPER_DEFINE_ARGS(__VA_ARGS__)
#define TAPER_PASS_ARGS_MORE(...) __VA_OPT__(, ) TAPER_PASS_ARGS(__VA_ARGS__)
