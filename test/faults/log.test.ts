import { playFaults } from '../support/faults.ts'
import { logPlays, OPEN, openLog } from './log.ts'

const [, , role, folder = ''] = process.argv
if (role === OPEN) await openLog(folder)
else playFaults('faults of a log on the disk', logPlays)
