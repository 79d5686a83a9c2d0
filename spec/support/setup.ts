/** Runs before each spec file: resets what the files before it may have changed, because files may share their modules. */
import { config } from 'rxjs';

config.onUnhandledError = null;
