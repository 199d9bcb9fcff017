import Foundation

/// Runs `body` concurrently on that many separate threads, with the numbers from 0, and waits for all.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
    await withTaskGroup(of: Void.self) { group in
        for number in 0..<count {
            group.addTask {
                await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                    Thread.detachNewThread {
                        body(number)
                        done.resume()
                    }
                }
            }
        }
    }
}
