import type { RehearsalScript } from '../script/script.ts'
import { createLoopScript } from './loop.ts'
import { doctorScript } from './doctor.ts'
import { tourScript } from './tour.ts'

const helloScript: RehearsalScript = {
  about: 'Says hello, and nothing else.',
  start: 'prompt',
  steps: [
    {
      say: 'Hello. This is a scripted rehearsal, not a model, but the request and the response went over real HTTP.',
    },
  ],
}

const parallelScript: RehearsalScript = {
  about: 'Makes 8 calls in one turn.',
  steps: [
    {
      say: 'All at once.',
      call: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => ({
        name: 'read_file',
        args: { absolute_path: `{cwd}/file-${n}.txt` },
      })),
    },
    { say: 'All 8 calls were answered.' },
  ],
}

export const BUILTIN_SCRIPTS: Readonly<Record<string, RehearsalScript>> = {
  hello: helloScript,
  tour: tourScript,
  loop: createLoopScript(10),
  parallel: parallelScript,
  patient: doctorScript,
}
