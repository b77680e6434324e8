import { randomBytes } from 'node:crypto'
import { PROBES } from '../../../doctor/probes/all-probes.ts'
import { type ExaminationReport, examineEndpoint } from '../../../doctor/examine-endpoint.ts'
import { createTurnKey } from '../../../model/ids.ts'
import { resolveModel, toDisplayUrl } from '../../../provider/index.ts'
import { readSettings } from '../../config/read-settings.ts'
import { UserError, EXIT_CODE } from '../../user-error.ts'
import { DOCTOR_COMMAND } from './spec.ts'
import { detectModel, listProviders } from '../../setup/choose-model.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { parseCommandLine } from '../../args/parse.ts'
import { saveCapabilities } from '../../setup/saved-capabilities.ts'
import { isRehearsalModel, type RehearsalEndpoint, startRehearsalModel } from '../../setup/rehearsal-model.ts'
import { createCredentialSources } from '../../sign-in/credential-sources.ts'
import { formatProbeReport, formatFindings, formatExaminationReport } from './report-text.ts'
import { defined } from '../../../model/defined.ts'

/** `dragoman doctor <provider/model>`: examines an endpoint live, and gives 0 only if tools can be used with it. */
export async function runModelDoctor(args: string[]): Promise<number> {
  const { name, options } = parseDoctorArgs(args)
  if (options.list) return listProbes(options.json ?? false)
  const { endpoint, close } = await resolveExaminedModel(name)
  try {
    const tokens = parsePositiveNumber('--max-tokens', options['max-tokens'])
    const seconds = parsePositiveNumber('--timeout', options.timeout)
    const answer = parsePositiveNumber('--answer', options.answer)
    const limit = seconds === undefined ? undefined : seconds * 1000
    const isTextOutput = options.json !== true
    if (isTextOutput)
      process.stdout.write(
        `${endpoint.provider.id}/${endpoint.model}, on the ${endpoint.wire} wire at ${toDisplayUrl(endpoint.baseUrl)}\n\n`,
      )
    const report = await examineEndpoint(endpoint, {
      newId: () => createTurnKey(randomBytes(20)),
      ...defined({ maxTokens: tokens, maxResponseTokens: answer }),
      ...(limit !== undefined && { timeouts: { firstByte: limit, idle: limit, quiet: limit, lifetime: 2 * limit } }),
      ...(isTextOutput && {
        onProbeFinished: (one) => process.stdout.write(escapeForTerminal(formatProbeReport(one))),
      }),
    })
    if (!isTextOutput) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
    else process.stdout.write(escapeForTerminal(report.dead ? formatFindings(report) : formatExaminationReport(report)))
    if (report.dead) throw new UserError(report.dead.message, toExitCode(report))
    if (options['write-profile']) {
      const file = saveCapabilities(endpoint, report.learnt)
      const isEmpty = Object.keys(report.learnt).length === 0
      if (isTextOutput)
        process.stdout.write(
          isEmpty ? 'There is nothing to keep for the next time.\n' : `Kept for the next time in ${file}.\n`,
        )
    }
    return toExitCode(report)
  } finally {
    await close()
  }
}

function toExitCode({ dead, usable }: ExaminationReport): number {
  if (dead) return dead.kind === 'auth' ? EXIT_CODE.signIn : EXIT_CODE.failure
  return usable ? EXIT_CODE.ok : EXIT_CODE.failure
}

/** Who is to be examined. What earlier examinations found is left aside, so that this one finds all of it again. */
async function resolveExaminedModel(modelName: string | undefined): Promise<RehearsalEndpoint> {
  const { config } = readSettings(process.cwd())
  const name = modelName ?? (await detectModel(config))
  if (name === undefined)
    throw new UserError('which model? name it as provider/model, for example ollama/qwen3', EXIT_CODE.input)
  if (isRehearsalModel(name)) return startRehearsalModel(name, 'patient', 0)
  const target = resolveModel(name, process.env, listProviders(config), createCredentialSources())
  if ('problem' in target) throw new UserError(target.problem, target.code)
  return { endpoint: target, close: () => Promise.resolve() }
}

function listProbes(json: boolean): number {
  const list = PROBES.map(({ id, title, failureIds, mode, advice }) => ({
    id,
    title,
    taught: failureIds,
    how: mode,
    advice,
  }))
  const lines = list.map(({ id, title, taught, how }) => `${String(id).padStart(3)}  ${title} (${how}; ${taught})\n`)
  process.stdout.write(json ? `${JSON.stringify(list, null, 2)}\n` : lines.join(''))
  return EXIT_CODE.ok
}

function parsePositiveNumber(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const number = Number(value)
  if (!(number > 0 && number < 1e9)) throw new UserError(`${flag} takes a number above 0, not “${value}”`)
  return number
}

function parseDoctorArgs(args: readonly string[]) {
  const { values, positionals } = parseCommandLine('dragoman doctor', DOCTOR_COMMAND.options, args)
  if (positionals.length > 1) throw new UserError(`one model at a time; “${positionals[1]}” is too much`)
  return { name: positionals[0], options: values }
}
