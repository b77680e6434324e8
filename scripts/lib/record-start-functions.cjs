// Loaded before the command by warm-up.mjs: writes which functions of the hot files were called until the first request, and ends
// the process, so that nothing is kept of it.
'use strict'
const { subscribe } = require('node:diagnostics_channel')
const { writeFileSync } = require('node:fs')
const { Session } = require('node:inspector')
const { fileURLToPath } = require('node:url')

const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

subscribe('http.client.request.start', () => {
  session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
    const hot = result.filter(({ url }) => /hot-[\w-]+\.cjs$/.test(url))
    const called = hot.map(({ url, functions }) => [
      toPath(url),
      functions.flatMap(({ ranges: [all] }) => rangeOf(all)),
    ])
    writeFileSync(process.env.DRAGOMAN_START_FUNCTIONS, JSON.stringify(called))
    process.kill(process.pid, 'SIGKILL')
  })
})

const toPath = (url) => (url.startsWith('file:') ? fileURLToPath(url) : url)
const rangeOf = ({ count, startOffset, endOffset }) => (count > 0 ? [[startOffset, endOffset]] : [])
