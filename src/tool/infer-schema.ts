import type { Json, JsonObject } from '../model/json.ts'
import type { StandardSchema } from './standard-schema.ts'

/** A JSON Schema as it is written in a program: `as const` is not needed for its type to be inferred. */
export type JsonSchema = { readonly [key: string]: unknown }

/** JSON Schema, or a schema of any library that follows Standard Schema. */
export type Schema = JsonSchema | StandardSchema

/** The type of the values that a schema accepts. A schema whose type is not known when the program is compiled gives `JsonObject`. */
export type InferSchema<S> =
  S extends StandardSchema<infer Output> ? Output : IsKnown<S> extends true ? Simplify<InferJson<S>> : JsonObject

type IsKnown<S> = S extends { readonly type: infer Type }
  ? string extends Type
    ? false
    : true
  : string extends keyof S
    ? false
    : true

type InferJson<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly anyOf: readonly (infer Option)[] } | { readonly oneOf: readonly (infer Option)[] }
      ? InferJson<Option>
      : S extends { readonly type: infer Type }
        ? InferType<S, Type extends readonly (infer One)[] ? One : Type>
        : Json

type InferType<S, Type> = Type extends 'object'
  ? InferObject<S>
  : Type extends 'array'
    ? (S extends { readonly items: infer Items } ? InferJson<Items> : Json)[]
    : Type extends keyof ScalarTypes
      ? ScalarTypes[Type]
      : Json

interface ScalarTypes {
  string: string
  number: number
  integer: number
  boolean: boolean
  null: null
}

type InferObject<S> = S extends { readonly properties: infer Properties }
  ? { [Key in keyof Properties as Key extends RequiredKey<S> ? Key : never]: InferJson<Properties[Key]> } & {
      [Key in keyof Properties as Key extends RequiredKey<S> ? never : Key]?: InferJson<Properties[Key]>
    }
  : JsonObject

type RequiredKey<S> = S extends { readonly required: readonly (infer Key)[] } ? Key : never

type Simplify<T> = T extends readonly unknown[] | string | number | boolean | null
  ? T
  : { -readonly [Key in keyof T]: T[Key] extends object ? Simplify<T[Key]> : T[Key] }
