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
import { parseCommandLine, parsePositiveNumber, rejectExtraArguments } from '../../args/parse-command-line.ts'
import { saveCapabilities } from '../../setup/saved-capabilities.ts'
import { isRehearsalModel, startRehearsalModel } from '../../setup/rehearsal-model.ts'
import { createCredentialSources } from '../../sign-in/credential-sources.ts'
import { formatProbeReport, formatFindings, formatExaminationReport } from './report-text.ts'
import { defined } from '../../../model/defined.ts'

/** `dragoman doctor <provider/model>`: tests an endpoint; the exit code is 0 only if tools can be used with it. */
export async function runModelDoctor(args: string[]): Promise<number> {
  const { values: options, positionals } = parseCommandLine('dragoman doctor', DOCTOR_COMMAND.options, args)
  rejectExtraArguments('dragoman doctor', positionals, 1)
  if (options.list) return listProbes(options.json ?? false)
  const { endpoint, close } = await resolveExaminedModel(positionals[0])
  try {
    const maxTokens = parsePositiveNumber('--max-tokens', options['max-tokens'])
    const maxResponseTokens = parsePositiveNumber('--answer', options.answer)
    const seconds = parsePositiveNumber('--timeout', options.timeout)
    const limit = seconds === undefined ? undefined : seconds * 1000
    const isTextOutput = options.json !== true
    if (isTextOutput)
      process.stdout.write(
        `${endpoint.provider.id}/${endpoint.model}, ${endpoint.wire} API at ${toDisplayUrl(endpoint.baseUrl)}\n\n`,
      )
    const report = await examineEndpoint(endpoint, {
      newId: () => createTurnKey(randomBytes(20)),
      ...defined({ maxTokens, maxResponseTokens }),
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
          isEmpty ? 'There are no capabilities to save.\n' : `The capabilities are saved in ${file}.\n`,
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

/** Without saved capabilities, so that all of them are detected again. */
async function resolveExaminedModel(modelName: string | undefined): ReturnType<typeof startRehearsalModel> {
  const { config } = readSettings(process.cwd())
  const name = modelName ?? (await detectModel(config))
  if (name === undefined)
    throw new UserError('no model is configured; name one as provider/model, for example ollama/qwen3')
  if (isRehearsalModel(name)) return startRehearsalModel(name, 'patient', { paceMs: 0 })
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
