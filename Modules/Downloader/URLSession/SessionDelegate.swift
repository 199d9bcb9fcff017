import Foundation
import FoundationNetworking

/// Hands the session's callbacks to the exchange each belongs to. All come on the delegate queue, one at a time.
final class SessionDelegate: NSObject, URLSessionDataDelegate {
    private let exchanges: ExchangeTable

    init(_ exchanges: ExchangeTable) { self.exchanges = exchanges }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.allow)
        if let response = response as? HTTPURLResponse { exchanges[dataTask.taskIdentifier]?.receive(response) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchanges[dataTask.taskIdentifier]?.receive(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The session then gives the redirect itself as the answer.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // The challenge comes after the whole 401 has arrived. There is no way to decline it and keep the answer: the
        // session can only try a credential or fail, so the exchange is completed first.
        exchanges.remove(task.taskIdentifier)?.complete(nil, response: task.response as? HTTPURLResponse)
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let exchange = exchanges.remove(task.taskIdentifier)
        exchange?.complete(error, response: task.response as? HTTPURLResponse)
    }
}
