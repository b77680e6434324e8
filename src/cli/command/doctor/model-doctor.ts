import { randomBytes } from 'node:crypto'
import { PROBES } from '../../../doctor/probes/all-probes.ts'
import { type ExaminationReport, examineEndpoint, type ProbeReport } from '../../../doctor/examine-endpoint.ts'
import { createTurnKey } from '../../../model/ids.ts'
import { resolveModel, toDisplayUrl } from '../../../provider/index.ts'
import { readSettings } from '../../config/read-settings.ts'
import { UserError, EXIT_CODE } from '../../user-error.ts'
import { DOCTOR_COMMAND } from './spec.ts'
import { detectModel, listProviders } from '../../setup/choose-model.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { parseCommandLine, parsePositiveNumber, rejectExtraArgs } from '../../args/parse-command-line.ts'
import { saveCapabilities } from '../../setup/saved-capabilities.ts'
import { isRehearsalModel, startRehearsalModel } from '../../setup/rehearsal-model.ts'
import { createCredentialSources } from '../../sign-in/credential-sources.ts'
import { defined } from '../../../model/defined.ts'

/** `dragoman doctor <provider/model>`: tests an endpoint; the exit code is 0 only if tools can be used with it. */
export async function runModelDoctor(args: string[]): Promise<number> {
  const { values: options, positionals } = parseCommandLine('dragoman doctor', DOCTOR_COMMAND.options, args)
  rejectExtraArgs('dragoman doctor', positionals, 1)
  if (options.list) return listProbes(options.json ?? false)
  const { endpoint, close } = await resolveExaminedModel(positionals[0])
  try {
    const maxTokens = parsePositiveNumber('--max-tokens', options['max-tokens'])
    const maxResponseTokens = parsePositiveNumber('--answer', options.answer)
    const seconds = parsePositiveNumber('--timeout', options.timeout)
    const limit = seconds === undefined ? undefined : seconds * 1000
    const isTextOutput = options.json !== true
    const { provider, model, wire, baseUrl } = endpoint
    if (isTextOutput) process.stdout.write(`${provider.id}/${model}, ${wire} API at ${toDisplayUrl(baseUrl)}\n\n`)
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
      const text = isEmpty ? 'There are no capabilities to save.' : `The capabilities are saved in ${file}.`
      if (isTextOutput) process.stdout.write(`${text}\n`)
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
  const list = PROBES.map(({ id, title, failureIds: taught, mode: how, advice }) => ({
    id,
    title,
    taught,
    how,
    advice,
  }))
  const lines = list.map(({ id, title, taught, how }) => `${String(id).padStart(3)}  ${title} (${how}; ${taught})\n`)
  process.stdout.write(json ? `${JSON.stringify(list, null, 2)}\n` : lines.join(''))
  return EXIT_CODE.ok
}

function formatProbeReport({ id, title, status, how, said, advice, seconds, tokens }: ProbeReport): string {
  const cells = [
    String(id).padStart(3),
    title.padEnd(46),
    status.padEnd(12),
    how === 'drill' ? 'drill'.padStart(8) : `${seconds.toFixed(1)} s`.padStart(8),
    how === 'drill' ? '' : `${tokens} tokens`.padStart(13),
  ]
  const line = cells.join(' ').trimEnd()
  const details = [status === 'passes' ? '' : said, advice ?? ''].filter((text) => text !== '').join(' ')
  return details === '' ? `${line}\n` : `${line}\n    ${details}\n`
}

/** The part below the table: findings, detected capabilities, and the conclusion. */
function formatExaminationReport(report: ExaminationReport): string {
  const { behaviours, learnt, usable, tokens, seconds } = report
  const count = (status: ProbeReport['status']): number => behaviours.filter((one) => one.status === status).length
  const flags = Object.entries(learnt).map(([flag, value]) => `  ${flag}: ${JSON.stringify(value)}\n`)
  return [
    '\n',
    formatFindings(report),
    ...(flags.length > 0 ? ['Detected capabilities (save them with --write-profile):\n', ...flags, '\n'] : []),
    `${count('passes')} pass, ${count('degraded')} degraded, ${count('fails')} fail, ${count('not offered')} not offered;`,
    ` ${tokens} tokens, ${seconds.toFixed(1)} s.\n`,
    usable ? 'Tools can be used with this model.\n' : 'Tools cannot be used with this model.\n',
  ].join('')
}

function formatFindings({ findings }: ExaminationReport): string {
  return findings.length === 0 ? '' : `${findings.map(({ said }) => `${said}\n`).join('')}\n`
}
