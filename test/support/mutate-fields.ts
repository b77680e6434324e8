import type { Json, JsonObject } from '../../src/model/json.ts'
import type { Random } from './mutate-random.ts'
import { type Gone, type Keeps, type Kind, type Mutation, type Stream, under, type WireEvent } from './mutate-stream.ts'

/** The place of a field in an event, from the outside in. */
type Path = readonly (string | number)[]

/** Takes a field away, from all events or from those of one group. */
export function dropField(path: Path, options: FieldOptions = {}): Mutation {
  return eachField('drop', path, options, (fields, key) => {
    delete fields[key]
    return true
  })
}

/** Makes a field say nothing. */
export function nullField(path: Path, options: FieldOptions & { readonly nothings?: readonly Json[] } = {}): Mutation {
  return eachField('null', path, options, (fields, key, random) => {
    const nothing = random.pick(options.nothings ?? [null])
    if (fields[key] === nothing) return false
    fields[key] = nothing
    return true
  })
}

export interface FieldOptions {
  readonly keeps?: Keeps
  /** Which way to tell calls apart is lost with it. */
  readonly gone?: 'id' | 'index'
  /** Not where this is lost already. */
  readonly unless?: Gone
  /** Only events that fit. */
  readonly on?: (one: WireEvent) => boolean
  /** The field must be the same in the whole stream, or it means something else. */
  readonly everywhere?: boolean
}

function eachField(
  kind: Kind,
  path: Path,
  { keeps = 'runs', gone, unless, on = () => true, everywhere = false }: FieldOptions,
  change: (fields: JsonObject, key: string, random: Random) => boolean,
): Mutation {
  const key = String(path.at(-1))
  return {
    kind,
    name: path.join('.'),
    keeps,
    apply(stream, random) {
      const fitting = stream.events.filter((one) => isPlain(one) && on(one) && key in fieldsOf(one, path))
      if (fitting.length === 0 || (unless && stream.gone.has(unless))) return false
      const other = gone === 'id' ? 'index' : 'id'
      // Without both, a call that was sent again could not be told from one that was made again.
      if (gone !== undefined && stream.gone.has('repeat') && stream.gone.has(other)) return false
      const group = everywhere || random.chance(0.5) ? undefined : random.pick(fitting).group
      const chosen = fitting.filter((one) => group === undefined || one.group === group)
      let changed = false
      for (const one of chosen) if (change(fieldsOf(one, path), key, random)) changed = true
      if (changed && gone !== undefined) stream.gone.add(gone)
      return changed
    },
  }
}

/** Changes every event that fits, as one. */
export function eachEvent(
  kind: Kind,
  name: string,
  change: (one: WireEvent, random: Random, stream: Stream) => boolean,
  keeps: Keeps = 'runs',
): Mutation {
  return {
    kind,
    name,
    keeps,
    apply(stream, random) {
      let changed = false
      for (const one of stream.events) if (isPlain(one) && change(one, random, stream)) changed = true
      return changed
    },
  }
}

/** What was put in to do damage stays as it is. */
function isPlain(one: WireEvent): boolean {
  return one.role !== 'damage' && typeof one.data !== 'string'
}

function fieldsOf(one: WireEvent, path: Path): JsonObject {
  let here: Json = one.data
  for (const key of path.slice(0, -1)) {
    if (typeof here !== 'object' || here === null) return {}
    here = (here as JsonObject)[key] ?? null
  }
  return under(here)
}
