import { playFaults } from '../support/faults.ts'
import { processPlays, WRITE, writeOnAndOn } from './process.ts'

const [, , role, what = '', folder = ''] = process.argv
if (role === WRITE) await writeOnAndOn(what, folder)
else playFaults('faults of the program', processPlays)
