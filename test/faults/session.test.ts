import { playFaults } from '../support/faults.ts'
import { sessionPlays } from './session.ts'

// Some break the disk, which is the same for all of this process.
playFaults('faults around a session', sessionPlays, 1)
