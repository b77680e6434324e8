import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findNextTime, parseCron } from '../../src/server/cron.ts'

function next(text: string, after: string): string | undefined {
  const cron = parseCron(text)
  if ('problem' in cron) throw new Error(cron.problem)
  const time = findNextTime(cron, Date.parse(after))
  return time === undefined ? undefined : new Date(time).toISOString().slice(0, 16)
}

test('cron: the next time of an expression, in UTC', () => {
  const cases: readonly (readonly [cron: string, after: string, expected: string])[] = [
    ['* * * * *', '2026-11-17T10:00:00Z', '2026-11-17T10:01'],
    ['* * * * *', '2026-11-17T10:00:59.999Z', '2026-11-17T10:01'],
    ['30 9 * * *', '2026-11-17T09:30:00Z', '2026-11-18T09:30'],
    ['*/15 * * * *', '2026-11-17T10:46:00Z', '2026-11-17T11:00'],
    ['5/20 * * * *', '2026-11-17T10:26:00Z', '2026-11-17T10:45'],
    ['0 9-17/4 * * mon-fri', '2026-11-20T17:30:00Z', '2026-11-23T09:00'],
    ['0 0 1 jan *', '2026-11-17T00:00:00Z', '2027-01-01T00:00'],
    ['0 0 29 2 *', '2026-11-17T00:00:00Z', '2028-02-29T00:00'],
    ['0 0 29 feb *', '2096-03-01T00:00:00Z', '2104-02-29T00:00'],
    ['0 0 * * 7', '2026-11-17T00:00:00Z', '2026-11-22T00:00'],
    ['0 0 * * 0', '2026-11-17T00:00:00Z', '2026-11-22T00:00'],
    // Day of the month or weekday, if both are given.
    ['0 0 13 * fri', '2026-11-17T00:00:00Z', '2026-11-20T00:00'],
    ['0 0 13 * *', '2026-11-17T00:00:00Z', '2026-12-13T00:00'],
    ['59 23 31 12 *', '2026-11-17T00:00:00Z', '2026-12-31T23:59'],
    ['0,30 6,18 * * *', '2026-11-17T06:10:00Z', '2026-11-17T06:30'],
    ['@daily', '2026-11-17T06:10:00Z', '2026-11-18T00:00'],
  ]
  for (const [text, after, expected] of cases) assert.equal(next(text, after), expected, text)
})

test('cron: what is not an expression is refused with the reason', () => {
  const cases: readonly (readonly [cron: string, problem: RegExp])[] = [
    ['* * * *', /five fields/],
    ['60 * * * *', /“60” is not a valid minute/],
    ['* 24 * * *', /hour/],
    ['* * 0 * *', /day/],
    ['* * * 13 *', /month/],
    ['* * * * funday', /weekday/],
    ['5-1 * * * *', /“5-1”/],
    ['*/0 * * * *', /minute/],
    ['', /five fields/],
    ['-1 * * * *', /minute/],
    ['1,,2 * * * *', /minute/],
    ['0 0 31 feb *', /never/],
    ['1e1 * * * *', /minute/],
  ]
  for (const [text, problem] of cases) {
    const cron = parseCron(text)
    assert.match('problem' in cron ? cron.problem : `${text} was accepted`, problem)
  }
})
