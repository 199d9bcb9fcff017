/// The process's actions for signals. Glibc and Musl name the fields of `sigaction` differently.
package enum SignalAction {
    /// Returns whether the process ignores a signal. Returns false for an invalid signal number.
    package static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        #if canImport(Glibc)
            let handler = action.__sigaction_handler.sa_handler
        #else
            let handler = action.__sa_handler.sa_handler
        #endif
        return unsafeBitCast(handler, to: Int.self) == 1
    }
}
