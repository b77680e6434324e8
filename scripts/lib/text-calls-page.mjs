// docs/text-calls.md, from the dialects and from the results of test/wire/text-calls-records.test.ts.
import { readFileSync } from 'node:fs'
import { inRoot } from './files.mjs'

/** The page about calls written as text: the dialects, and how many public records of each are read. */
export function textCallsPage({ TEXT_CALL_DIALECTS, NESTED_DIALECTS }) {
  const results = JSON.parse(readFileSync(inRoot('test/wire/text-call-results.json'), 'utf8'))
  const sum = (key) => results.reduce((total, result) => total + result[key], 0)
  const values = {
    dialects: table(
      ['Dialect', 'Models', 'Markers'],
      [...TEXT_CALL_DIALECTS, ...NESTED_DIALECTS].map(({ id, models, startMarkers = [] }) => [
        `\`${id}\``,
        models,
        startMarkers.map(code).join(' '),
      ]),
    ),
    results: table(
      ['Dialect of the record', 'Records', 'Right', 'Left as text'],
      results.map(({ dialect, records, right }) => [dialect, records, right, records - right]),
    ),
    records: sum('records'),
    count: results.length,
    right: sum('right'),
    share: ((100 * sum('right')) / sum('records')).toFixed(1),
  }
  return readFileSync(inRoot('scripts/lib/text-calls-page.md'), 'utf8').replace(
    /\{\{(\w+)\}\}/g,
    (_all, key) => values[key],
  )
}

function table(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function code(marker) {
  return `\`${marker.trim().replaceAll('|', '\\|')}\``
}
