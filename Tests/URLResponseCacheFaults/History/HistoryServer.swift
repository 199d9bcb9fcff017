import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport

@testable import AlcedoURLResponseCache

/// A server with random responses that reports each of them to an oracle.
final class HistoryServer: HTTPTransport {
    enum Mood: Sendable {
        case well
        /// Every response is an error.
        case troubled
        case unreachable
    }

    struct State: Sendable {
        var random: SeededGenerator
        var oracle: HistoryOracle
        var mood = Mood.well
        /// The current request.
        var request: RequestPlan
        var questionCount = 0
        /// The responses made or validated since the last read.
        var given: Set<Int> = []
        var lastSerial = 0
        /// The responses that the server may validate: those of a page since its last change.
        var tagged: [Int: Set<Int>] = [:]
    }

    let clock = ManualClock()
    let state: Watched<State>

    init(seed: UInt64, role: CacheRole) {
        var random = SeededGenerator(seed: seed)
        let request = RequestPlan(pageCount: 1, using: &random)
        state = Watched(State(random: random, oracle: HistoryOracle(role: role), request: request))
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let requestTime = clock.now
        let delay = state.update { state in
            state.questionCount += 1
            return Int.random(in: 0..<6, using: &state.random) == 0 ? Int.random(in: 1...5, using: &state.random) : 0
        }
        clock.advance(by: .seconds(delay))
        let now = clock.now
        return try state.update { state -> Result<HTTPResponse, HTTPTransportError> in
            switch state.mood {
            case .unreachable: return .failure(HTTPTransportError(.cannotConnect, "there is no server"))
            case .troubled: return .success(HTTPResponse(request, status: 503, [:], "trouble"))
            case .well: break
            }
            guard request.method == .get else {
                state.oracle.changed(page: state.request.page)
                state.tagged[state.request.page] = nil
                return .success(HTTPResponse(request, status: 204))
            }
            return .success(Self.respond(to: request, &state, requestTime: requestTime, now: now))
        }.get()
    }

    private static func respond(
        to request: HTTPRequest, _ state: inout State, requestTime: Date, now: Date
    ) -> HTTPResponse {
        let plan = ResponsePlan(using: &state.random)
        let offered = request.fields.values(of: "If-None-Match").flatMap { $0.split(separator: ",") }
            .compactMap { Int($0.filter(\.isNumber)) }
            .filter { state.tagged[state.request.page]?.contains($0) == true }
        if let serial = offered.randomElement(using: &state.random), Bool.random(using: &state.random) {
            var confirmation = plan
            (confirmation.vary, confirmation.modifiedAgo, confirmation.hasTag) = ([], nil, true)
            if state.oracle.entries.count(where: { $0.serial == serial }) > 1 {
                // It would matter which head it replaces if it were not complete.
                confirmation.control = plan.control ?? ResponsePlan.Control(using: &state.random)
                confirmation.targetedControl = plan.targetedControl ?? ResponsePlan.Control(using: &state.random)
                confirmation.targetedControl?.maxAge = 20
                confirmation.expiresIn = plan.expiresIn ?? 0
            }
            state.oracle.confirmed(
                serial, by: confirmation, for: state.request, requestTime: requestTime, responseTime: now)
            state.given.insert(serial)
            let fields = confirmation.fields(tag: "\(serial)", receivedAt: now, using: &state.random)
            return HTTPResponse(request, status: 304, fields)
        }
        state.lastSerial += 1
        let serial = state.lastSerial
        state.given.insert(serial)
        if plan.hasTag { state.tagged[state.request.page, default: []].insert(serial) }
        state.oracle.arrived(
            HistoryOracle.Entry(
                serial: serial, request: state.request, plan: plan, requestTime: requestTime, responseTime: now))
        let fields = plan.fields(tag: "\(serial)", receivedAt: now, using: &state.random)
        return HTTPResponse(request, status: plan.status, fields, "\(serial)")
    }
}
