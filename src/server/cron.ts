/** A cron expression that was read: the values of each field at which it fires, in UTC. */
export interface CronTimes {
  readonly minutes: ReadonlySet<number>
  readonly hours: ReadonlySet<number>
  readonly days: ReadonlySet<number>
  readonly months: ReadonlySet<number>
  readonly weekdays: ReadonlySet<number>
  /** If both the day of the month and the weekday are restricted, one of them is enough, as in every cron. */
  readonly isEitherDay: boolean
}

/** Reads five fields (minute, hour, day, month, weekday) with `*`, lists, ranges, steps and names. */
export function parseCron(text: string): CronTimes | { readonly problem: string } {
  const fields = (NICKNAMES[text.trim().toLowerCase()] ?? text.trim()).split(/\s+/)
  if (fields.length !== FIELDS.length)
    return { problem: `a schedule has five fields (minute hour day month weekday), not ${fields.length}` }
  const sets: Set<number>[] = []
  for (const [at, field] of FIELDS.entries()) {
    const values = parseField(fields[at] ?? '', field)
    if ('problem' in values) return values
    sets.push(values.values)
  }
  const [minutes, hours, days, months, weekdays] = sets as [
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
  ]
  // Both 0 and 7 are Sunday.
  if (weekdays.delete(7)) weekdays.add(0)
  const isEitherDay = !isAny(fields[2] ?? '') && !isAny(fields[4] ?? '')
  const times = { minutes, hours, days, months, weekdays, isEitherDay }
  return findNextTime(times, 0) === undefined ? { problem: `“${text}” never happens` } : times
}

/** The first time after this one, in milliseconds since 1970. */
export function findNextTime(cron: CronTimes, after: number): number | undefined {
  const date = new Date(after)
  date.setUTCSeconds(0, 0)
  date.setUTCMinutes(date.getUTCMinutes() + 1)
  const end = after + MAX_DAYS * 86_400_000
  while (date.getTime() <= end) {
    if (!cron.months.has(date.getUTCMonth() + 1)) {
      date.setUTCMonth(date.getUTCMonth() + 1, 1)
      date.setUTCHours(0, 0)
    } else if (!isDayIncluded(cron, date)) {
      date.setUTCDate(date.getUTCDate() + 1)
      date.setUTCHours(0, 0)
    } else if (!cron.hours.has(date.getUTCHours())) date.setUTCHours(date.getUTCHours() + 1, 0)
    else if (!cron.minutes.has(date.getUTCMinutes())) date.setUTCMinutes(date.getUTCMinutes() + 1)
    else return date.getTime()
  }
  return undefined
}

/** The longest wait for any date is the eight years between leap days around a century. */
const MAX_DAYS = 8 * 366 + 1

function isDayIncluded({ days, weekdays, isEitherDay }: CronTimes, date: Date): boolean {
  const [day, weekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())]
  return isEitherDay ? day || weekday : day && weekday
}

interface CronField {
  readonly label: string
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const FIELDS: readonly CronField[] = [
  { label: 'minute', min: 0, max: 59 },
  { label: 'hour', min: 0, max: 23 },
  { label: 'day', min: 1, max: 31 },
  {
    label: 'month',
    min: 1,
    max: 12,
    names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  { label: 'weekday', min: 0, max: 7, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
]

const NICKNAMES: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
}

const isAny = (text: string): boolean => text.startsWith('*')

function parseField(text: string, field: CronField): { values: Set<number> } | { problem: string } {
  const values = new Set<number>()
  for (const item of text.split(',')) {
    const range = parseItem(item, field)
    if (!range) return { problem: `“${item}” is not a valid ${field.label}` }
    for (let value = range.from; value <= range.to; value += range.step) values.add(value)
  }
  return { values }
}

/** `*`, `5`, `1-5`, `mon-fri`, each with `/2`; `5/10` means from 5 to the end. */
function parseItem(item: string, field: CronField): { from: number; to: number; step: number } | undefined {
  const match = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d{1,3}))?$/.exec(item)
  if (!match) return undefined
  const [, any, first, last, stepText] = match
  const step = stepText === undefined ? 1 : Number(stepText)
  if (step < 1) return undefined
  if (any !== undefined) return { from: field.min, to: field.label === 'weekday' ? 6 : field.max, step }
  const from = parseValue(first ?? '', field)
  const to = last === undefined ? (stepText === undefined ? from : field.max) : parseValue(last, field)
  return from === undefined || to === undefined || from > to ? undefined : { from, to, step }
}

function parseValue(text: string, { min, max, names = [] }: CronField): number | undefined {
  const name = names.indexOf(text.toLowerCase())
  const value = name >= 0 ? name + (min === 1 ? 1 : 0) : /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max ? value : undefined
}
