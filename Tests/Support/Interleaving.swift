/// Lets other tasks run in between, so that events happen in varying order. Not a way to wait: nothing is certain to have
/// happened afterwards.
package enum Interleaving {
    /// Gives way to other tasks a number of times.
    package static func giveWay(times: Int = 1) async {
        // Only this suspends a task without an event, a timer or another thread that would decide the order.
        for _ in 0..<times { await Task.yield() }
    }

    /// Gives way to other tasks until the duration has passed. Unlike a timer, it is exact to microseconds.
    package static func giveWay(for duration: Duration) async {
        let start = ContinuousClock.now
        while ContinuousClock.now - start < duration { await giveWay() }
    }
}
