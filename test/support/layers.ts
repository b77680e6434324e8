import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import { blank } from './scan.ts'

/** A source file: its path inside src/, with forward slashes, and its text. */
export interface Source {
  readonly path: string
  readonly text: string
}

/** A rule that a file breaks, and where. */
export interface Breach {
  readonly path: string
  readonly line: number
  readonly rule: string
}

/** A folder imports only from lower layers and from itself. */
export const layers: Readonly<Record<string, number>> = {
  model: 0,
  schema: 1,
  wire: 2,
  provider: 3,
  session: 3,
  host: 3,
  policy: 3,
  tool: 4,
  agent: 5,
  embed: 6,
  rehearsal: 6,
  doctor: 6,
  acp: 6,
  gateway: 6,
  server: 6,
  cli: 7,
}

/** What others import: they may import from all layers. */
const ENTRIES = ['index.ts', 'server.ts', 'testing.ts']

export const maxLines = 500

/** No I/O, clock or randomness in these: ids and time come in as arguments. */
const pureFolders = ['model', 'schema', 'wire']
const impure: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['fetch(', /(?<![\w$])fetch\s*\(/g],
  ['Date.now', /\bDate\s*\.\s*now\b/g],
  ['new Date', /\bnew\s+Date\b/g],
  ['Math.random', /\bMath\s*\.\s*random\b/g],
  ['process', /(?<![\w$])process\s*\??\.(?!\.)/g],
  ['performance', /(?<![\w$])performance\s*\??\.(?!\.)/g],
]

/** `host.fetch(…)` is somebody's method and free to all; this is the global one. */
const globalFetch = /(?<![\w$.])fetch\s*\(|\bglobalThis\s*\.\s*fetch\b|(?:\?\?|\|\||[^=!<>]=)\s*fetch\b(?!\s*[.:=])/g

const network = {
  modules: ['http', 'https', 'http2', 'net', 'tls', 'dgram'],
  places: [
    'provider/http/node-http-client.ts',
    'provider/http/fetch-client.ts',
    'provider/auth/redirect-server.ts',
    'tool/mcp/',
    'server/',
    'host/',
    'rehearsal/',
    'gateway/',
  ],
}
const files = {
  modules: ['fs', 'fs/promises', 'child_process'],
  places: ['host/', 'session/store/', 'cli/'],
}

/** What no source may contain. */
const forbidden: readonly (readonly [rule: string, pattern: RegExp])[] = [
  ['no default exports', /\bexport\s+default\b|\bas\s+default\b(?=[^{}]*\})/g],
  ['no `export *`', /\bexport\s+(?:type\s+)?\*|\bexport\*/g],
  ['no `any`', /:\s*any\b|\bas\s+any\b|<\s*any\s*[>,]|,\s*any\s*>/g],
]

/** All breaches of the rules of the source tree in these files. */
export function check(sources: readonly Source[]): Breach[] {
  return sources.flatMap(checkOne)
}

/** The import and export-from specifiers of a source, static and dynamic, with their offsets. */
export function specifiers(text: string, code = blank(text)): { specifier: string; offset: number }[] {
  const pattern = /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s*)(?<quote>['"`])(?<inside> *)\k<quote>/dg
  return [...code.matchAll(pattern)].map((match) => {
    const [start, end] = match.indices?.groups?.['inside'] ?? [0, 0]
    return { specifier: text.slice(start, end), offset: match.index }
  })
}

function checkOne({ path, text }: Source): Breach[] {
  const found: Breach[] = []
  const breach = (rule: string, offset = 0): void => {
    found.push({ path, line: text.slice(0, offset).split('\n').length, rule })
  }
  const code = blank(text)
  const each = (rule: string, pattern: RegExp): void => {
    for (const match of code.matchAll(pattern)) breach(rule, match.index)
  }

  const folder = folderOf(path)
  const layer = ENTRIES.includes(path) ? Infinity : layers[folder]
  if (layer === undefined) breach(`src/${folder || path} is in no layer`)
  for (const { specifier, offset } of specifiers(text, code)) {
    const rule = importRule(path, folder, layer ?? Infinity, specifier)
    if (rule !== undefined) breach(rule, offset)
  }

  if (pureFolders.includes(folder)) for (const [name, pattern] of impure) each(`${folder} is pure: no ${name}`, pattern)
  else if (!isIn(network.places, path)) each('no network here: fetch', globalFetch)
  for (const [rule, pattern] of forbidden) each(rule, pattern)

  const lines = text.replace(/\n$/, '').split('\n').length
  if (lines > maxLines) breach(`${lines} lines, over ${maxLines}`, text.length)
  return found
}

/** Folders of which others may import only some files. */
const entryFiles: Readonly<Record<string, readonly string[]>> = {
  provider: [
    'index.ts',
    'catalog.ts',
    'clock.ts',
    'forwarding.ts',
    'model-list.ts',
    'optional-middleware.ts',
    'recording.ts',
    'sign-in.ts',
  ],
}

/** The rule that an import breaks, if it breaks one. */
function importRule(path: string, folder: string, layer: number, specifier: string): string | undefined {
  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(path), specifier)
    if (target === '../package.json') return undefined
    if (target.startsWith('..')) return `imports ${specifier}, outside src`
    const other = folderOf(target)
    if (other === folder) return undefined
    if ((layers[other] ?? Infinity) >= layer) return `${folder} may not import ${other || target}`
    const entries = entryFiles[other]
    return entries && !entries.includes(posix.relative(other, target)) ? `${target} is internal to ${other}` : undefined
  }
  if (/^dragoman(?:\/|$)/.test(specifier)) return 'imports the package itself'

  const builtin = specifier.replace(/^node:/, '')
  if (builtin === specifier && !builtinModules.includes(specifier)) return undefined
  if (pureFolders.includes(folder)) return `${folder} is pure: no ${specifier}`
  if (network.modules.includes(builtin) && !isIn(network.places, path)) return `no network here: ${specifier}`
  if (files.modules.includes(builtin) && !isIn(files.places, path)) return `no files or processes here: ${specifier}`
  return undefined
}

/** The first folder of a path; '' for a file directly in src. */
function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : ''
}

/** Is the path one of these files, or inside one of these folders (written with a slash at the end)? */
function isIn(places: readonly string[], path: string): boolean {
  return places.some((place) => (place.endsWith('/') ? path.startsWith(place) : path === place))
}
