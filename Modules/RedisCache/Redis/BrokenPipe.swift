import Glibc

/// Keeps the signal that writing to a connection which has ended raises from ending the process: hiredis does not ask the
/// system to leave it out. What the process does with the signal stays its own affair.
enum BrokenPipe {
    /// Runs `work` on this thread, for which the signal is held back and, if `work` has raised it, forgotten.
    static func quietly<Value, Failure: Error>(_ work: () throws(Failure) -> Value) throws(Failure) -> Value {
        var (pipe, before) = (sigset_t(), sigset_t())
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        let wasPending = isPending
        pthread_sigmask(SIG_BLOCK, &pipe, &before)
        defer {
            if !wasPending, isPending {
                var now = timespec()
                sigtimedwait(&pipe, nil, &now)
            }
            pthread_sigmask(SIG_SETMASK, &before, nil)
        }
        return try work()
    }

    private static var isPending: Bool {
        var pending = sigset_t()
        return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1
    }
}
