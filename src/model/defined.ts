type Defined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K]
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The object without its undefined fields: `{ ...defined({ limit }) }` has no key `limit` if the limit is undefined. */
export function defined<T extends object>(fields: T): Defined<T> {
  const kept: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) kept[name] = value
  return kept as Defined<T>
}
