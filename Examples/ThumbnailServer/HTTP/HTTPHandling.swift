/// What a server asks for its answers. Calls come from the server's own thread and must not block.
protocol HTTPHandling: Sendable {
    func answer(to head: RequestHead) -> HTTPAnswer
    /// What is sent in the place of an answer for which there is no room beside those that are on their way.
    func sendAway() -> Reply
    /// What is sent in the place of an answer that is not there in time.
    func late(_ head: RequestHead) -> Reply
    /// A request is over.
    ///
    /// - Parameter status: What it was answered with; nil when the client went before its answer had gone out whole.
    func ended(_ head: RequestHead, status: Int?, byteCount: Int, duration: Duration)
}
