import { readFileSync, writeFileSync } from 'node:fs'
import { homedir, release } from 'node:os'
import { join, resolve } from 'node:path'
import { isObject, type Json } from '../../../model/json.ts'
import { redactSettings, type Redactor } from '../../../model/security/redactor.ts'
import { providers } from '../../../provider/index.ts'
import { jsonlStore } from '../../../session/store/jsonl-store.ts'
import { findSessionId, resolveWorkFolder, withStoreErrors } from '../../setup/assemble-agent.ts'
import { readSettings } from '../../config/read-settings.ts'
import { confirm } from '../../confirm.ts'
import { UserError, EXIT_CODE } from '../../user-error.ts'
import { BUG_COMMAND } from './spec.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { parseCommandLine } from '../../args/parse-command-line.ts'
import { getDataFolder, getSessionsFolder } from '../../paths/folders.ts'
import { createSecretRedactor } from '../../recording/traffic-recorder.ts'
import { version } from '../../version.ts'
import { getErrorMessage } from '../../../model/error-message.ts'

export async function runBugCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('dragoman bug', BUG_COMMAND.options, args)
  const folder = resolveWorkFolder(values)
  const secrets = createSecretRedactor()
  const parts = {
    versions: { dragoman: version, node: process.version, system: `${process.platform} ${process.arch} ${release()}` },
    variables: listSetVariables(process.env),
    settings: readReportSettings(folder, secrets),
    session: values['no-session'] ? null : await withStoreErrors(() => readReportSession(folder, positionals[0])),
    trace: readLastLines(values.trace ?? process.env['DRAGOMAN_TRACE']),
    fault: readLastLines(join(getDataFolder(), 'fault.txt')),
  }
  const text = redactReport(`${JSON.stringify(parts, undefined, 1)}\n`, secrets)
  const path = resolve(values.output ?? 'dragoman-bug.json')
  process.stderr.write(escapeForTerminal(summarizeReport(JSON.parse(text) as Record<string, Json>)))
  if (!values.yes && !(process.stdin.isTTY && (await confirm(`Write the report to ${path}?`)))) {
    process.stderr.write('Nothing was written. Use --yes to write without asking.\n')
    return EXIT_CODE.ok
  }
  try {
    writeFileSync(path, text, { mode: 0o600 })
  } catch (error) {
    throw new UserError(`${path} cannot be written: ${getErrorMessage(error)}`)
  }
  process.stdout.write(`${path}\n`)
  return EXIT_CODE.ok
}

/** Removes secrets and the home folder; fails if a secret is left. */
function redactReport(text: string, secrets: Redactor): string {
  const clean = secrets.redact(text.replaceAll(JSON.stringify(homedir()).slice(1, -1), '~'))
  const [remaining] = secrets.findCertainSpans(clean)
  if (remaining)
    throw new UserError(`the report was not written: it still contains a secret (${remaining.label}) after redaction`)
  return clean
}

/** The names of the related variables that are set; not their values. */
function listSetVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const providerVariables = new Set(
    providers.flatMap(({ keys, tokens = [], urls = [] }) => [...keys, ...tokens, ...urls]),
  )
  const relatedNames = /^(?:DRAGOMAN_|GEMINI_|GOOGLE_|CODE_ASSIST_|XDG_|NODE_)|PROXY$/i
  return Object.keys(env)
    .filter((name) => (env[name] ?? '') !== '' && (providerVariables.has(name) || relatedNames.test(name)))
    .toSorted()
}

/** Invalid settings may be what is to be reported. */
function readReportSettings(folder: string, { redact }: Redactor): Json {
  try {
    const { config, policies, files } = readSettings(folder)
    return redactSettings({ files, config, policies }, redact) as Json
  } catch (error) {
    return getErrorMessage(error)
  }
}

async function readReportSession(folder: string, name: string | undefined): Promise<Json> {
  const store = jsonlStore(getSessionsFolder(folder))
  if (name === undefined && (await store.list()).length === 0) return null
  const { entries, damages } = await store.read(await findSessionId(name ?? 'latest', store))
  return { entries: entries.map((entry) => stripMedia(entry as unknown as Json)), damages: damages.length }
}

/** Images and other files are private, and long. */
function stripMedia(value: Json): Json {
  if (Array.isArray(value)) return value.map(stripMedia)
  if (!isObject(value)) return value
  const hide = value['kind'] === 'media' || 'mime' in value
  const stripField = (key: string, one: Json): Json =>
    hide && key === 'data' && typeof one === 'string' ? `[${one.length} characters]` : stripMedia(one)
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, stripField(key, one)]))
}

function readLastLines(path: string | undefined): string[] | null {
  if (path === undefined || path === '') return null
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-1000)
  } catch {
    return null
  }
}

function summarizeReport(parts: Readonly<Record<string, Json>>): string {
  const lines = Object.entries(parts).map(([name, part]) => {
    const size = `${JSON.stringify(part).length} characters`
    return `  ${name.padEnd(12)}${part === null ? 'nothing' : `${size.padEnd(18)}${describeReportPart(name, part)}`}\n`
  })
  return `The report contains:\n${lines.join('')}`
}

function describeReportPart(name: string, part: Json): string {
  if (name === 'session') {
    const entries = isObject(part) && Array.isArray(part['entries']) ? part['entries'] : []
    return `${entries.length} entries: messages, tool calls and results`
  }
  if (name === 'variables') return `names only: ${(part as string[]).join(' ')}`
  if (name === 'settings') return 'without secrets'
  return name === 'trace' ? 'timings of the last requests' : ''
}
