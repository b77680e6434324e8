import type { ProbeReport, ExaminationReport } from '../../../doctor/examine-endpoint.ts'

export function formatProbeReport({ id, title, status, how, said, advice, seconds, tokens }: ProbeReport): string {
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
export function formatExaminationReport(report: ExaminationReport): string {
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

/** The findings alone, for an endpoint that could not be tested. */
export function formatFindings({ findings }: ExaminationReport): string {
  return findings.length === 0 ? '' : `${findings.map(({ said }) => `${said}\n`).join('')}\n`
}
