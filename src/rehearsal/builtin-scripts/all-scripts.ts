import type { RehearsalScript } from '../script/script.ts'
import { helloScript } from './hello.ts'
import { createLoopScript } from './loop.ts'
import { createParallelScript } from './parallel.ts'
import { doctorScript } from './doctor.ts'
import { tourScript } from './tour.ts'

export const BUILTIN_SCRIPTS: Readonly<Record<string, RehearsalScript>> = {
  hello: helloScript,
  tour: tourScript,
  loop: createLoopScript(10),
  parallel: createParallelScript(),
  patient: doctorScript,
}
