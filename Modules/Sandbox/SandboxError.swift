#if Sandbox
    public import AlcedoRuntime

    /// An error that prevented a sandbox from being created.
    public struct SandboxError: CodedError {
        /// The kind of failure.
        public enum Code: String, Sendable {
            /// The kernel, or the container, lacks a feature that the sandbox requires.
            case unsupported
            /// The worker process could not be started, or did not confine itself in time.
            case cannotStart
        }

        /// The kind of failure, for callers to switch on.
        public var code: Code
        /// A one-sentence description for logs.
        package var message: String

        init(_ code: Code, _ message: String) {
            self.code = code
            self.message = message
        }
    }
#endif
