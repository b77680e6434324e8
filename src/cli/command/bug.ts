import { readFileSync, writeFileSync } from 'node:fs'
import { homedir, release } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { isObject, type Json } from '../../model/json.ts'
import { cleanSettings, type Redactor } from '../../model/secret.ts'
import { rows } from '../../provider/table.ts'
import { jsonlStore } from '../../session/store/jsonl.ts'
import { StoreProblem } from '../../session/store/store.ts'
import { sessionNamed, workFolder } from '../setup/assemble.ts'
import { readSettings } from '../config/read.ts'
import { Complaint, EXIT } from '../exit.ts'
import { BUG } from '../manual/bug.ts'
import { visible } from '../output/visible.ts'
import { parseLine } from '../line/parse.ts'
import { dataFolder, sessionsFolder } from '../own/places.ts'
import { knownSecrets } from '../tape/tap.ts'
import { version } from '../version.ts'

/** `dragoman bug`: makes a file for a report. */
export async function bugCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseLine('dragoman bug', BUG.options, args)
  const folder = workFolder(values.cwd === undefined ? {} : { cwd: values.cwd })
  const secrets = knownSecrets()
  const parts = {
    versions: { dragoman: version, node: process.version, system: `${process.platform} ${process.arch} ${release()}` },
    variables: variables(process.env),
    settings: settingsOf(folder, secrets),
    session: values['no-session'] ? null : sessionOf(folder, positionals[0]),
    trace: tail(values.trace ?? process.env['DRAGOMAN_TRACE']),
    fault: tail(join(dataFolder(), 'fault.txt')),
  }
  const text = tidied(`${JSON.stringify(parts, undefined, 1)}\n`, secrets)
  const path = resolve(values.output ?? 'dragoman-bug.json')
  process.stderr.write(visible(contents(JSON.parse(text) as Record<string, Json>)))
  if (!values.yes && !(await agreed(path))) {
    process.stderr.write('Nothing is written. With --yes it is.\n')
    return EXIT.ok
  }
  try {
    writeFileSync(path, text, { mode: 0o600 })
  } catch (error) {
    throw new Complaint(`${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`)
  }
  process.stdout.write(`${path}\n`)
  return EXIT.ok
}

/** Without secrets, and without the name of the person's home; refused if a secret is found all the same. */
function tidied(text: string, secrets: Redactor): string {
  const clean = secrets.clean(text.replaceAll(JSON.stringify(homedir()).slice(1, -1), '~'))
  const [left] = secrets.sure(clean)
  if (left) throw new Complaint(`a secret, ${left.word}, is still in it after all were taken out; it is not written`)
  return clean
}

/** Which variables are set that have to do with us; not to what. */
function variables(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = new Set(rows.flatMap((row) => [...row.keys, ...(row.tokens ?? []), ...(row.urls ?? [])]))
  const ours = /^(?:DRAGOMAN_|GEMINI_|GOOGLE_|CODE_ASSIST_|XDG_|NODE_)|PROXY$/i
  return Object.keys(env)
    .filter((name) => (env[name] ?? '') !== '' && (known.has(name) || ours.test(name)))
    .toSorted()
}

/** A file that is wrong may be the very thing to report. */
function settingsOf(folder: string, { clean }: Redactor): Json {
  try {
    const { config, policies, files } = readSettings(folder)
    return cleanSettings({ files, config, policies }, clean) as Json
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function sessionOf(folder: string, name: string | undefined): Json {
  const store = jsonlStore(sessionsFolder(folder))
  try {
    if (name === undefined && store.list().length === 0) return null
    const { entries, damages } = store.read(sessionNamed(name ?? 'latest', store))
    return { entries: entries.map((entry) => withoutMedia(entry as unknown as Json)), damages: damages.length }
  } catch (error) {
    if (error instanceof StoreProblem) throw new Complaint(error.message)
    throw error
  }
}

/** Pictures and other files show too much, and are long. */
function withoutMedia(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutMedia)
  if (!isObject(value)) return value
  const hide = value['kind'] === 'media' || 'mime' in value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      return [key, hide && key === 'data' && typeof one === 'string' ? `[${one.length} letters]` : withoutMedia(one)]
    }),
  )
}

/** The end of a file, if there is one. */
function tail(path: string | undefined): string[] | null {
  if (path === undefined || path === '') return null
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-1000)
  } catch {
    return null
  }
}

function contents(parts: Readonly<Record<string, Json>>): string {
  const lines = Object.entries(parts).map(([name, part]) => {
    const size = `${JSON.stringify(part).length} letters`
    return `  ${name.padEnd(12)}${part === null ? 'nothing' : size.padEnd(18)}${part === null ? '' : described(name, part)}\n`
  })
  return `This goes in:\n${lines.join('')}`
}

function described(name: string, part: Json): string {
  if (name === 'session') {
    const entries = isObject(part) && Array.isArray(part['entries']) ? part['entries'] : []
    return `${entries.length} entries: what was said, and what the tools did`
  }
  if (name === 'variables')
    return `names only: ${JSON.stringify(part)
      .replace(/[",[\]]+/g, ' ')
      .trim()}`
  if (name === 'settings') return 'without secrets'
  return name === 'trace' ? 'times of the last exchanges' : ''
}

async function agreed(path: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y/i.test((await lines.question(`Write it to ${path}? [y/N] `)).trim())
  } finally {
    lines.close()
  }
}
