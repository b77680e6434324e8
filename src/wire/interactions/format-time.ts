/** Seconds since 1970 as `YYYY-MM-DDThh:mm:ssZ`; the proleptic calendar, counted in eras of 400 years from March 1st. */
export function formatTime(seconds: number): string {
  const days = Math.floor(seconds / DAY_SECONDS) + DAYS_BEFORE_1970
  const era = Math.floor(days / ERA_DAYS)
  const dayOfEra = days - era * ERA_DAYS
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const month = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * month + 2) / 5) + 1
  const year = yearOfEra + era * 400 + (month < 10 ? 0 : 1)
  const time = ((Math.floor(seconds) % DAY_SECONDS) + DAY_SECONDS) % DAY_SECONDS
  const clock = [Math.floor(time / 3600), Math.floor(time / 60) % 60, time % 60].map((one) => pad(one, 2)).join(':')
  return `${pad(year, 4)}-${pad(month < 10 ? month + 3 : month - 9, 2)}-${pad(day, 2)}T${clock}Z`
}

function pad(value: number, length: number): string {
  return String(value).padStart(length, '0')
}

const DAY_SECONDS = 86_400
const ERA_DAYS = 146_097
/** From March 1st of the year 0. */
const DAYS_BEFORE_1970 = 719_468
