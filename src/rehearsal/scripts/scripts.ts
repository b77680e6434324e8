import type { Script } from '../script.ts'
import { hello } from './hello.ts'
import { loop } from './loop.ts'
import { parallel } from './parallel.ts'
import { patient } from './patient.ts'
import { tour } from './tour.ts'

/** The scripts that come with Dragoman, by name. */
export const SCRIPTS: Readonly<Record<string, Script>> = { hello, tour, loop: loop(10), parallel: parallel(), patient }
