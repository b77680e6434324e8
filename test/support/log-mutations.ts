/** A generator of numbers from 0 to 1 that gives the same ones for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    // The low bits of such a generator repeat soon.
    return ((state >>> 8) & 0xffffff) / 2 ** 24
  }
}

type Random = () => number

/** Damage as disks and people do it: to bytes and lines, whatever they mean. */
export const DAMAGES: Readonly<Record<string, (log: Buffer, random: Random) => Buffer>> = {
  'one bit': (log, random) => flipped(log, 1, random),
  'many bits': (log, random) => flipped(log, 20, random),
  truncated: (log, random) => log.subarray(0, below(log.length, random)),
  'NUL page': (log, random) => {
    const at = below(log.length, random)
    return Buffer.from(log).fill(0, at, Math.min(log.length, at + 64 + below(4000, random)))
  },
  'NUL tail': (log, random) => Buffer.from(log).fill(0, Math.floor(log.length * (0.5 + random() / 2))),
  hole: (log, random) => {
    const at = below(log.length, random)
    return Buffer.concat([log.subarray(0, at), log.subarray(at + 1 + below(1500, random))])
  },
  'bytes twice': (log, random) => {
    const [from, to] = [below(log.length, random), below(log.length, random)]
    return Buffer.concat([log.subarray(0, to), log.subarray(from, from + 500), log.subarray(to)])
  },
  'old bytes over new': (log, random) => {
    const copy = Buffer.from(log)
    const from = below(log.length, random)
    copy.copy(copy, below(log.length, random), from, from + below(800, random))
    return copy
  },
  'no UTF-8': (log, random) => {
    const copy = Buffer.from(log)
    for (let round = 0; round < 5; round++) copy[below(copy.length, random)] = 0xff
    return copy
  },
  'line gone': (log, random) => onLines(log, (lines) => void lines.splice(below(lines.length, random), 1)),
  'lines gone': (log, random) =>
    onLines(log, (lines) => void lines.splice(below(lines.length, random), 1 + below(5, random))),
  'beginning gone': (log, random) => onLines(log, (lines) => void lines.splice(0, 1 + below(lines.length - 1, random))),
  'end gone': (log, random) => onLines(log, (lines) => void lines.splice(-1 - below(6, random))),
  'line twice': (log, random) =>
    onLines(log, (lines) => {
      const at = below(lines.length, random)
      lines.splice(below(lines.length, random), 0, lines[at] ?? '')
    }),
  'lines swapped': (log, random) =>
    onLines(log, (lines) => {
      const [one, other] = [below(lines.length, random), below(lines.length, random)]
      ;[lines[one], lines[other]] = [lines[other] ?? '', lines[one] ?? '']
    }),
  reversed: (log) => onLines(log, (lines) => void lines.reverse()),
  'all twice': (log) => Buffer.concat([log, log]),
  'line end gone': (log, random) => {
    const ends = [...log.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at] : []))
    const at = ends[below(ends.length, random)] ?? 0
    return Buffer.concat([log.subarray(0, at), log.subarray(at + 1)])
  },
  CRLF: (log) => Buffer.from(log.toString('latin1').replaceAll('\n', '\r\n'), 'latin1'),
  garbage: (log, random) =>
    onLines(log, (lines) => {
      const some = ['{}', 'null', '[[[', '{"seq":3}', '\0\u0001', 'x'.repeat(5000), WRONG_SUM]
      for (let round = 0; round < 5; round++)
        lines.splice(below(lines.length, random), 0, some[below(some.length, random)] ?? '')
    }),
  'two neighbours': (log, random) =>
    onLines(log, (lines) => {
      const at = 1 + below(lines.length - 1, random)
      lines[at - 1] = `#${(lines[at - 1] ?? '').slice(1)}`
      const line = Buffer.from(lines[at] ?? '', 'latin1')
      lines[at] = flipped(line, 1 + below(3, random), random).toString('latin1')
    }),
  nothing: (log) => log,
  empty: () => Buffer.alloc(0),
}

const WRONG_SUM = '{"seq":99,"at":1,"kind":"user","parts":[],"prompt":"","sum":"0123456789abcdef"}'

/** Puts something of a wrong type somewhere into the entries of a log, or an entry between them that nobody knows. */
export function mutateEntries(entries: readonly Fields[], random: Random): { entries: Fields[]; what: string } {
  const copy = structuredClone(entries) as Fields[]
  const at = below(copy.length, random)
  if (random() < 0.2) {
    const odd = ODD_ENTRIES[below(ODD_ENTRIES.length, random)] ?? {}
    const seq = random() < 0.5 ? copy.length + 1 + below(900, random) : (copy[at]?.['seq'] ?? 1)
    copy.splice(random() < 0.5 ? at : copy.length, 0, { seq, at: 1, ...odd })
    return { entries: copy, what: `inserted ${JSON.stringify(odd).slice(0, 80)}` }
  }
  const path: string[] = [String(copy[at]?.['kind'])]
  let holder: Fields = copy[at] ?? {}
  for (;;) {
    const keys = Object.keys(holder)
    const key = keys[below(keys.length, random)]
    if (key === undefined) return { entries: copy, what: `nothing in ${path.join('.')}` }
    path.push(key)
    const inner = holder[key]
    if (typeof inner === 'object' && inner !== null && random() < 0.7) {
      holder = inner as Fields
      continue
    }
    if (random() < 0.2) delete holder[key]
    else holder[key] = oddValue(inner, random)
    return { entries: copy, what: `${path.join('.')} = ${shown(holder[key])}` }
  }
}

export type Fields = Record<string, unknown>

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'gone').slice(0, 60)

/** A value of another type than this one. */
function oddValue(instead: unknown, random: Random): unknown {
  const values = [null, 7, -1, 1e300, 2 ** 53, 'words', true, [], {}, [null], [[]], { kind: 'hologram' }, deep()]
  const others = values.filter((value) => kindOf(value) !== kindOf(instead))
  return others[below(others.length, random)]
}

const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value)

function deep(): unknown {
  let value: unknown = []
  for (let depth = 0; depth < 1500; depth++) value = [value]
  return value
}

const ODD_ENTRIES: readonly Fields[] = [
  { kind: 'hologram', text: 'from a later version' },
  { kind: 'note' },
  { kind: 'note', text: 'x', seq: Number.MAX_SAFE_INTEGER },
  { kind: 'note', text: 'x', seq: -5 },
  { kind: 'note', text: 'x', seq: 0 },
  { kind: 'note', text: 'x', at: 'noon' },
  { kind: 'turn', turn: null },
  { kind: 'turn', turn: { role: 'assistant', parts: null } },
  { kind: 'result', result: {} },
  { kind: 'result', result: null },
  { kind: 'compact', keep: 3 },
  { kind: 'undo', back: 'x', since: null, left: 5 },
  { kind: 'close' },
  { kind: 'ask', ask: 1 },
  { kind: 'reply' },
  { kind: 'fault', fault: null },
  { kind: '__proto__' },
  { kind: 'constructor' },
  {},
]

function flipped(bytes: Buffer, count: number, random: Random): Buffer {
  const copy = Buffer.from(bytes)
  for (let round = 0; round < count && copy.length > 0; round++) {
    const at = below(copy.length, random)
    copy[at] = (copy[at] ?? 0) ^ (1 << below(8, random))
  }
  return copy
}

/** One character for each byte, so that nothing is changed but what is meant. */
function onLines(log: Buffer, change: (lines: string[]) => void): Buffer {
  const lines = log.toString('latin1').split('\n').slice(0, -1)
  change(lines)
  return Buffer.from(lines.map((line) => `${line}\n`).join(''), 'latin1')
}

function below(count: number, random: Random): number {
  return Math.floor(random() * count)
}
