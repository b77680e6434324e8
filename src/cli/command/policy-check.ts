import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { bashRejects } from '../../host/bash-syntax.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import { DEFAULT_RULES } from '../../policy/approval.ts'
import type { Places } from '../../policy/path/place.ts'
import { openBook, RuleProblem, type RuleTiers } from '../../policy/rule/book.ts'
import { judgeShell } from '../../policy/shell/judge.ts'
import { workFolder } from '../setup/assemble.ts'
import { readSettings } from '../config/read.ts'
import { Complaint, EXIT } from '../exit.ts'
import { configFolder } from '../own/places.ts'
import { checkPath } from './policy-check-path.ts'
import { checkTerminal, checkUrl } from './policy-check-text.ts'
import { diskWith } from './policy-disk.ts'
import { type Answer, type Ground, stepsIn, textIn } from './policy-line.ts'
import type { PolicyOptions } from './policy.ts'
import { readInput, readJson } from './wire-input.ts'

/** `dragoman policy check`: one JSON object a line in, one answer a line out. */
export async function checkCommand(file: string | undefined, options: PolicyOptions): Promise<void> {
  const ground = groundOf(options)
  for (const [at, line] of readInput(file).toString('utf8').split('\n').entries()) {
    if (line.trim() === '') continue
    const one = lineOf(line, at + 1)
    const answer = { id: one['id'] ?? at + 1, ...(await judge(one, ground)) }
    process.stdout.write(`${options.json ? JSON.stringify(answer) : inWords(answer)}\n`)
  }
}

async function judge(line: JsonObject, ground: Ground): Promise<Answer> {
  const kind = kindOf(line)
  if (kind === 'path') return checkPath(line, ground)
  if (kind === 'url') return checkUrl(line)
  if (kind === 'terminal') return checkTerminal(line)
  if (kind !== 'shell') throw new Complaint(`a line has no kind that is known: ${JSON.stringify(line).slice(0, 100)}`)
  const steps = [...ground.fixture, ...['fixture', 'setup'].flatMap((key) => stepsIn(line, key))]
  const disk = diskWith(steps, (path) => join(ground.folder, path), ground.fill)
  const context = { places: ground.places({ disk }), book: openBook(ground.rules), rejected: bashRejects }
  const { verdict, rule, why, programs } = await judgeShell(
    ground.fill(textIn(line, 'command')),
    ground.folder,
    context,
  )
  return { verdict, rule, why, programs }
}

function groundOf(options: PolicyOptions): Ground {
  const folder = workFolder(options.cwd === undefined ? {} : { cwd: options.cwd })
  const home = homedir()
  const names: Readonly<Record<string, string>> = {
    '{WS}': folder,
    '{OUTSIDE}': join(dirname(folder), 'outside'),
    '{EXTRA}': join(dirname(folder), 'extra'),
    '{HOME}': home,
    '{AGENT_HOME}': configFolder(),
  }
  const fill = (text: string) => text.replace(/(?<!\$)\{[A-Z_]+\}/g, (name) => names[name] ?? name)
  const rules = rulesOf(options, folder)
  const all = [rules.project, rules.user, rules.admin]
  const places = (more: Partial<Places>): Places => ({
    folders: [folder],
    home,
    protectedWrites: all.flatMap((tier) => tier?.protectedWrites ?? []).map(fill),
    secretFiles: all.flatMap((tier) => tier?.secretFiles ?? []).map(fill),
    ...more,
  })
  const json = options.rules === undefined ? {} : readJson(options.rules)
  const fixture = isObject(json) ? stepsIn(json as JsonObject, 'fixture') : []
  return { folder, rules, fixture, fill, places }
}

/** The rules of a file, alone; or those that hold here. */
function rulesOf({ rules: file }: PolicyOptions, folder: string): RuleTiers {
  if (file === undefined) return checked({ default: DEFAULT_RULES, ...readSettings(folder).policies })
  const json = readJson(file)
  const rules = isObject(json) && isObject(json['policy']) ? json['policy'] : json
  if (!isObject(rules)) throw new Complaint(`${file} holds no rules: an object with allow, ask, deny, … is expected`)
  return checked({ user: rules })
}

function checked(rules: RuleTiers): RuleTiers {
  try {
    openBook(rules)
    return rules
  } catch (error) {
    if (error instanceof RuleProblem) throw new Complaint(error.message, EXIT.config)
    throw error
  }
}

function lineOf(line: string, number: number): JsonObject {
  try {
    const value: unknown = JSON.parse(line)
    if (isObject(value)) return value as JsonObject
  } catch {
    // Said below.
  }
  throw new Complaint(`line ${number} is no JSON object; see dragoman policy --help`)
}

function kindOf(line: JsonObject): unknown {
  if (line['kind'] !== undefined) return line['kind']
  if ('command' in line || 'commandParts' in line) return 'shell'
  if ('path' in line || 'pathParts' in line) return 'path'
  return 'url' in line || 'urlParts' in line ? 'url' : 'surface' in line ? 'terminal' : undefined
}

function inWords({ id, verdict, why, rendered }: Answer & { readonly id: unknown }): string {
  return rendered === undefined ? `${String(id)}  ${verdict ?? ''}  ${why ?? ''}` : `${String(id)}  ${rendered}`
}
