import { playFaults } from '../support/faults.ts'
import { serverPlays } from './servers.ts'

playFaults('faults of tool servers', serverPlays)
