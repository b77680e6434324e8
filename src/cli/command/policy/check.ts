import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { findBashSyntaxError } from '../../../host/process/bash-syntax.ts'
import { isObject, type JsonObject, tryParseJson } from '../../../model/json.ts'
import { DEFAULT_POLICY_RULES } from '../../../policy/rules/default-rules.ts'
import type { PathContext } from '../../../policy/path/classify-path.ts'
import { createRuleSet, type RulesByTier } from '../../../policy/rules/rule-set.ts'
import { checkShellCommand, type ShellContext } from '../../../policy/shell/check-shell-command.ts'
import { resolveWorkFolder } from '../../setup/assemble-agent.ts'
import { readSettings } from '../../config/read-settings.ts'
import { withRuleErrorsReported } from '../../setup/policies.ts'
import { UserError } from '../../user-error.ts'
import { getConfigFolder } from '../../paths/folders.ts'
import { checkPathCase } from './check-path.ts'
import { checkTerminalCase, checkUrlCase } from './check-url-and-terminal.ts'
import { createVirtualDisk } from './virtual-disk.ts'
import { type PolicyCheckResult, type PolicyCheckContext, readFixtureSteps, readCaseText } from './check-case.ts'
import type { PolicyCommandOptions } from './policy.ts'
import { readInput, readJsonInput } from '../wire/wire-input.ts'

/** `dragoman policy check`: reads one JSON object per line, and prints one result per line. */
export async function runPolicyCheck(file: string | undefined, options: PolicyCommandOptions): Promise<void> {
  const checkContext = createCheckContext(options)
  for (const [at, line] of readInput(file).toString('utf8').split('\n').entries()) {
    if (line.trim() === '') continue
    const checkCase = parseCheckCase(line, at + 1)
    const answer = { id: checkCase['id'] ?? at + 1, ...(await judgeCase(checkCase, checkContext)) }
    process.stdout.write(`${options.json ? JSON.stringify(answer) : formatCheckResult(answer)}\n`)
  }
}

async function judgeCase(line: JsonObject, checkContext: PolicyCheckContext): Promise<PolicyCheckResult> {
  const kind = detectCaseKind(line)
  if (kind === 'path') return checkPathCase(line, checkContext)
  if (kind === 'url') return checkUrlCase(line)
  if (kind === 'terminal') return checkTerminalCase(line)
  if (kind !== 'shell') throw new UserError(`a case has an unknown kind: ${JSON.stringify(line).slice(0, 100)}`)
  const steps = [...checkContext.fixture, ...['fixture', 'setup'].flatMap((key) => readFixtureSteps(line, key))]
  const disk = createVirtualDisk(steps, (path) => join(checkContext.folder, path), checkContext.expandPlaceholders)
  const context: ShellContext = {
    pathContext: checkContext.createPathContext({ disk }),
    ruleSet: createRuleSet(checkContext.rules),
    rejected: findBashSyntaxError,
  }
  const command = checkContext.expandPlaceholders(readCaseText(line, 'command'))
  const { verdict, rule, why, programs } = await checkShellCommand(command, checkContext.folder, context)
  return { verdict, rule, why, programs }
}

function createCheckContext(options: PolicyCommandOptions): PolicyCheckContext {
  const folder = resolveWorkFolder(options)
  const home = homedir()
  const names: Readonly<Record<string, string>> = {
    '{WS}': folder,
    '{OUTSIDE}': join(dirname(folder), 'outside'),
    '{EXTRA}': join(dirname(folder), 'extra'),
    '{HOME}': home,
    '{AGENT_HOME}': getConfigFolder(),
  }
  const expandPlaceholders = (text: string) => text.replace(/(?<!\$)\{[A-Z_]+\}/g, (name) => names[name] ?? name)
  const rules = readRules(options, folder)
  const all = [rules.project, rules.user, rules.admin]
  const createPathContext = (more: Partial<PathContext>): PathContext => ({
    folders: [folder],
    home,
    protectedWrites: all.flatMap((tier) => tier?.protectedWrites ?? []).map(expandPlaceholders),
    secretFiles: all.flatMap((tier) => tier?.secretFiles ?? []).map(expandPlaceholders),
    ...more,
  })
  const json = options.rules === undefined ? {} : readJsonInput(options.rules)
  const fixture = isObject(json) ? readFixtureSteps(json as JsonObject, 'fixture') : []
  return { folder, rules, fixture, expandPlaceholders, createPathContext }
}

/** The rules of a file alone, or those in effect in the folder. */
function readRules({ rules: file }: PolicyCommandOptions, folder: string): RulesByTier {
  if (file === undefined) return validateRules({ default: DEFAULT_POLICY_RULES, ...readSettings(folder).policies })
  const json = readJsonInput(file)
  const rules = isObject(json) && isObject(json['policy']) ? json['policy'] : json
  if (!isObject(rules))
    throw new UserError(`${file} contains no rules; it must be a JSON object with allow, ask, deny, …`)
  return validateRules({ user: rules })
}

function validateRules(rules: RulesByTier): RulesByTier {
  withRuleErrorsReported(() => createRuleSet(rules))
  return rules
}

function parseCheckCase(line: string, number: number): JsonObject {
  const value = tryParseJson(line)
  if (isObject(value)) return value as JsonObject
  throw new UserError(`line ${number} is not a JSON object; see dragoman policy --help`)
}

function detectCaseKind(line: JsonObject): unknown {
  if (line['kind'] !== undefined) return line['kind']
  if ('command' in line || 'commandParts' in line) return 'shell'
  if ('path' in line || 'pathParts' in line) return 'path'
  return 'url' in line || 'urlParts' in line ? 'url' : 'surface' in line ? 'terminal' : undefined
}

function formatCheckResult({ id, verdict, why, rendered }: PolicyCheckResult & { readonly id: unknown }): string {
  return rendered === undefined ? `${String(id)}  ${verdict ?? ''}  ${why ?? ''}` : `${String(id)}  ${rendered}`
}
