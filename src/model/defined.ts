type Defined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K]
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/**
 * The object without its undefined fields: `{ ...defined({ limit }) }` has no key `limit` if the limit is undefined. It is the object
 * itself if it has none.
 */
export function defined<T extends object>(fields: T): Defined<T> {
  for (const name in fields) if (fields[name] === undefined) return omitUndefined(fields)
  return fields
}

function omitUndefined<T extends object>(fields: T): Defined<T> {
  const kept: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) kept[name] = value
  return kept as Defined<T>
}
