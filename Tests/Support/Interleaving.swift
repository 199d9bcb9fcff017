/// Suspends tasks so that events happen in varying order. Not a way to wait: no event is certain to have happened
/// afterwards.
package enum Interleaving {
    /// Yields to other tasks a number of times.
    package static func giveWay(times: Int = 1) async {
        // Only a yield suspends a task without an event, a timer or another thread that would determine the order.
        for _ in 0..<times { await Task.yield() }
    }

    /// Yields to other tasks until the duration has passed. Unlike a timer, it is exact to microseconds.
    package static func giveWay(for duration: Duration) async {
        let start = ContinuousClock.now
        while ContinuousClock.now - start < duration { await giveWay() }
    }
}
