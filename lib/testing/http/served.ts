/** The fake server on a socket, as tests see it. */

/** The options of `serve`. */
export interface ServeOptions {
  /** The port to listen on. @defaultValue 0, which is any free port */
  readonly port?: number | undefined;
  /**
   * Answers preflight requests and allows every origin, so that pages of other origins can send requests with any header, also
   * Authorization, and read all headers of the responses. @defaultValue false
   */
  readonly cors?: boolean | undefined;
}

/** A server that listens on 127.0.0.1. */
export interface Served {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Stops listening and ends all connections. */
  close(): Promise<void>;
}
